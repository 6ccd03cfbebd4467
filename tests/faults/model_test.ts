import { runModel } from "./support/model/run.ts";
import { isFull } from "./support/random.ts";

Deno.test("Responses to 20 concurrent clients are linearizable.", async () => {
  await runModel(isFull() ? 20_000 : 3000, 1);
});

Deno.test("Two server processes on one store are linearizable.", async () => {
  await runModel(isFull() ? 20_000 : 2000, 2);
});
