import { schemaContract } from "./differential/schema-contract.ts";
import * as validators from "./v2/validators.gen.ts";

schemaContract("v2", validators);
