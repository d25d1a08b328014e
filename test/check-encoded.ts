// Switches the second check of encoded updates on. `npm run check` imports it into every test process.

import { encodedCheck } from "@parley/acp/internal/testing";

encodedCheck.isOn = true;
