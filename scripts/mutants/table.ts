import { ACCOUNTS_MUTANTS } from "./accounts.ts";
import { ENGINE_MUTANTS } from "./engine.ts";
import { FILES_MUTANTS } from "./files.ts";
import { GATE_MUTANTS } from "./gate.ts";
import { HTTP_MUTANTS } from "./http.ts";
import { HTTP1_MUTANTS } from "./http1.ts";
import { MAINTENANCE_MUTANTS } from "./maintenance.ts";
import { RULES_MUTANTS } from "./rules.ts";
import { UPLOADS_MUTANTS } from "./uploads.ts";
import type { Mutant } from "./mutant.ts";

/** All changes, by the part of the server that they are in. */
export const MUTANTS: readonly Mutant[] = [
  ...ENGINE_MUTANTS,
  ...FILES_MUTANTS,
  ...UPLOADS_MUTANTS,
  ...ACCOUNTS_MUTANTS,
  ...MAINTENANCE_MUTANTS,
  ...HTTP_MUTANTS,
  ...HTTP1_MUTANTS,
  ...GATE_MUTANTS,
  ...RULES_MUTANTS,
];
