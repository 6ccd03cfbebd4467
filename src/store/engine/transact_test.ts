import { assertEquals, assertRejects } from "@std/assert";
import { testOnAll } from "../testing/stores.ts";
import { StoreUnavailable } from "./errors.ts";
import { Operation } from "./operation.ts";
import { MAX_TRANSACTION_TRIES, transact } from "./transact.ts";

const KEY = ["counted"];

testOnAll(
  "Concurrent transactions are applied one after the other",
  async ({ db }) => {
    const add = async () => {
      const { value, versionstamp } = await db.reader.get<number>(KEY);
      const result = (value ?? 0) + 1;
      return { operation: new Operation().check(KEY, versionstamp).set(KEY, result), result };
    };
    const results = await Promise.all(Array.from({ length: 8 }, () => transact(db, add)));
    assertEquals(results.toSorted((a, b) => a - b), [1, 2, 3, 4, 5, 6, 7, 8]);
  },
);

testOnAll(
  "A transaction can start over, and without an operation it commits nothing",
  async ({ db }) => {
    let attempts = 0;
    const attempt = () => Promise.resolve(++attempts < 3 ? undefined : { result: "done" });
    assertEquals([await transact(db, attempt), attempts], ["done", 3]);
    assertEquals((await db.reader.get(KEY)).versionstamp, null);
  },
);

testOnAll(
  "An error of an attempt is thrown, and a transaction that always conflicts gives up",
  async ({ db }) => {
    await assertRejects(() => transact(db, () => Promise.reject(new RangeError())), RangeError);
    let attempts = 0;
    const never = () => {
      attempts++;
      const operation = new Operation().check(KEY, "00000000000000010000").set(KEY, 1);
      return Promise.resolve({ operation, result: 1 });
    };
    await assertRejects(() => transact(db, never), StoreUnavailable);
    assertEquals(attempts, MAX_TRANSACTION_TRIES);
  },
);
