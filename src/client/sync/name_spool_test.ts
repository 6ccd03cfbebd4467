import { assertEquals } from "@std/assert";
import { NameSpool } from "./name_spool.ts";

Deno.test("Names come back in their order, however many there are", async () => {
  for (const count of [0, 3, 30_000]) {
    using spool = new NameSpool();
    const nameOf = (i: number) => `${i} é\n😀"${"x".repeat(count === 3 ? 1 : 300)}`;
    for (let i = 0; i < count; i++) await spool.add(nameOf(i));
    let i = 0;
    for await (const name of spool.names()) assertEquals(name, nameOf(i++));
    assertEquals([i, spool.count], [count, count]);
  }
});
