import * as validators from "../../src/wire/v2/validators.gen.ts";
import { schemaContract } from "./schema-contract.ts";

schemaContract("v2", validators);
