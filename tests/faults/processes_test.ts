import { isFull } from "./support/model_random.ts";
import { runModel } from "./support/model_audited_run.ts";

Deno.test("Two server processes on one store answer as one would, and none is locked out.", async () => {
  await runModel(isFull() ? 20_000 : 2000, 2);
});
