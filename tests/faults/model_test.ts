import { isFull } from "./support/model_random.ts";
import { runModel } from "./support/model_audited_run.ts";

Deno.test("Twenty clients at once get no answer that no order of their operations explains.", async () => {
  await runModel(isFull() ? 20_000 : 3000, 1);
});
