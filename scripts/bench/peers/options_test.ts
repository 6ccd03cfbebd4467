import { assertEquals, assertStringIncludes } from "@std/assert";
import { namesOf, problemOf } from "./options.ts";

const PROGRAMS = ["minio", "nginx"];

Deno.test("problemOf() accepts a number of rounds and names of servers", () => {
  assertEquals(problemOf({ rounds: "3" }, PROGRAMS), undefined);
  assertEquals(problemOf({ rounds: "50", peers: "MinIO, nginx" }, PROGRAMS), undefined);
});

Deno.test("problemOf() quotes what is wrong, and says what is right", () => {
  for (const rounds of ["0", "-1", "51", "1.5", "many", ""]) {
    assertStringIncludes(
      problemOf({ rounds }, PROGRAMS) ?? "",
      `Bad value "${rounds}" of --rounds`,
    );
  }
  const problem = problemOf({ rounds: "1", peers: "minio,apache" }, PROGRAMS);
  assertEquals(problem, 'Bad value "apache" of --peers: it must be one of minio, nginx');
});

Deno.test("namesOf() splits at commas", () => {
  assertEquals(namesOf(" MinIO,nginx ,"), ["minio", "nginx"]);
  assertEquals(namesOf(undefined), undefined);
});
