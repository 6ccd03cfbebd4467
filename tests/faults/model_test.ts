import { runModel } from "./support/model/run.ts";
import { isFull } from "./support/random.ts";

Deno.test("Twenty clients at once get no answer that no order of their operations explains.", async () => {
  await runModel(isFull() ? 20_000 : 3000, 1);
});

Deno.test("Two server processes on one store answer as one would, and none is locked out.", async () => {
  await runModel(isFull() ? 20_000 : 2000, 2);
});
