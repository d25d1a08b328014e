import { schemaContract } from "./differential/schema-contract.ts";
import * as validators from "./v1/validators.gen.ts";

schemaContract("v1", validators);
