import { assertEquals } from "@std/assert";
import { variableOf } from "./arguments.ts";

Deno.test("The variable of an option is its name in capitals", () => {
  assertEquals(variableOf("port"), "KVDRIVE_PORT");
  assertEquals(variableOf("shutdown-timeout"), "KVDRIVE_SHUTDOWN_TIMEOUT");
});
