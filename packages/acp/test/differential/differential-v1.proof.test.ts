import * as validators from "../../src/wire/v1/validators.gen.ts";
import { schemaContract } from "./schema-contract.ts";

schemaContract("v1", validators);
