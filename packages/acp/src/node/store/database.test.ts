import assert from "node:assert/strict";
import { test } from "node:test";
import { freshPath } from "../../../test/support/store-probe.ts";
import { Database } from "./database.ts";
import { openFile } from "./store-file.ts";

for (const durability of ["normal", "full"] as const) {
  test(`with durability "${durability}", a transaction waits for the disk where one of its changes must`, async () => {
    const path = freshPath();
    const db = await openFile({ path, durability });
    const ran: string[] = [];
    const exec = db.exec.bind(db);
    db.exec = (sql) => {
      const level = db.prepare("PRAGMA synchronous").get()?.["synchronous"];
      if (sql === "BEGIN IMMEDIATE") ran.push(level === 2 ? "waits" : "does not wait");
      exec(sql);
    };
    const database = new Database(db, { path, tenant: "", isSynced: durability === "full" });
    await database.change(() => undefined);
    await Promise.all([
      database.change(() => undefined),
      database.change(() => undefined, true),
      database.change(() => undefined),
    ]);
    await database.change(() => undefined);
    const otherwise = durability === "full" ? "waits" : "does not wait";
    assert.deepEqual(ran, [otherwise, "waits", otherwise]);
    database.close();
  });
}
