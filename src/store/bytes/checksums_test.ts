import { assertEquals } from "@std/assert";
import { CHUNK_SIZE } from "../engine/records.ts";
import { bytes } from "../testing/bodies.ts";
import {
  CHECKSUMS_PER_PAGE,
  ChecksumWriter,
  contentProblem,
  digest,
  isPage,
  matches,
  OTHER_BYTES,
  VersionCheck,
} from "./checksums.ts";

/** Two whole chunks and a short one, with their checksums. */
function someVersion(): {
  chunks: readonly [Uint8Array, Uint8Array, Uint8Array];
  size: number;
  sha256: string;
  page: Uint8Array<ArrayBuffer>;
} {
  const size = 2 * CHUNK_SIZE + 10;
  const all = bytes(size);
  const chunk = (n: number) => all.subarray(n * CHUNK_SIZE, (n + 1) * CHUNK_SIZE);
  const chunks = [chunk(0), chunk(1), chunk(2)] as const;
  const sha256 = digest(all);
  return { chunks, size, sha256, page: pageOf(chunks, sha256) };
}

function pageOf(chunks: readonly Uint8Array[], sha256: string): Uint8Array<ArrayBuffer> {
  const writer = new ChecksumWriter();
  for (const chunk of chunks) writer.add(chunk);
  return writer.finish(sha256)?.value ?? new Uint8Array();
}

/** Returns the first problem of a version's chunks, or of their end. */
function problemOf(check: VersionCheck, chunks: readonly Uint8Array[]): string | undefined {
  for (const [index, chunk] of chunks.entries()) {
    const problem = check.add(index, chunk);
    if (problem !== undefined) return problem;
  }
  return check.end();
}

Deno.test("a chunk matches its own checksum only, at every index of its page", () => {
  const chunks = [bytes(5, 1), bytes(5, 2), bytes(6, 1)];
  const page = pageOf(chunks, digest(bytes(0)));
  for (const [index] of chunks.entries()) {
    for (const [other, chunk] of chunks.entries()) {
      assertEquals(matches(page, index, chunk), index === other, `${index} ${other}`);
      assertEquals(matches(page, CHECKSUMS_PER_PAGE + index, chunk), index === other);
    }
  }
});

Deno.test("a full page is written before the next one, and only the last has the digest", () => {
  const writer = new ChecksumWriter();
  const chunk = bytes(3);
  for (let n = 0; n < CHECKSUMS_PER_PAGE; n++) assertEquals(writer.add(chunk), undefined);
  const first = writer.add(chunk);
  const last = writer.finish(digest(chunk));
  assertEquals([first?.number, first?.value.byteLength], [0, 4 * CHECKSUMS_PER_PAGE]);
  assertEquals([last?.number, last?.value.byteLength], [1, 4 + 32]);
  const chunks = CHECKSUMS_PER_PAGE + 1;
  assertEquals([isPage(first?.value, 0, chunks), isPage(last?.value, 1, chunks)], [true, true]);
  assertEquals([isPage(first?.value, 1, chunks), isPage(last?.value, 0, chunks)], [false, false]);
  assertEquals(isPage(first?.value, 0, CHECKSUMS_PER_PAGE), false);
});

Deno.test("a version whose chunks fill a page exactly has one page", () => {
  const writer = new ChecksumWriter();
  for (let n = 0; n < CHECKSUMS_PER_PAGE; n++) writer.add(bytes(3));
  const page = writer.finish(digest(bytes(3)))?.value;
  assertEquals(page?.byteLength, 4 * CHECKSUMS_PER_PAGE + 32);
  assertEquals(isPage(page, 0, CHECKSUMS_PER_PAGE), true);
  assertEquals(isPage(page, 0, CHECKSUMS_PER_PAGE + 1), false);
});

Deno.test("a version without chunks has no page", () => {
  assertEquals(new ChecksumWriter().finish(digest(bytes(0))), undefined);
});

Deno.test("the problem of a content in one value is its absence, type, length or digest", () => {
  const content = bytes(100);
  const record = { size: 100, sha256: digest(content) };
  assertEquals(contentProblem(record, content), undefined);
  assertEquals(contentProblem({ size: 100 }, content), undefined);
  assertEquals(contentProblem(record, null), "its content is missing");
  assertEquals(contentProblem(record, "text"), "its content is not binary");
  for (const length of [99, 101]) {
    const problem = `its content has ${length} bytes instead of 100`;
    assertEquals(contentProblem(record, bytes(length)), problem);
  }
  assertEquals(contentProblem(record, bytes(100, 2)), OTHER_BYTES);
});

Deno.test("a version whose chunks, checksums and digests agree has no problem", () => {
  const { chunks, size, sha256, page } = someVersion();
  const check = new VersionCheck({ size, pages: [page], sha256 });
  assertEquals([problemOf(check, chunks), check.sha256], [undefined, sha256]);
});

Deno.test("a chunk that is missing, of another length or changed is reported by its number", () => {
  const { chunks, size, sha256, page } = someVersion();
  const [first, second, last] = chunks;
  const problemWith = (...given: readonly Uint8Array[]) =>
    problemOf(new VersionCheck({ size, pages: [page], sha256 }), given);
  assertEquals(problemWith(first, second), "chunk 2 of 3 is missing");
  const skipped = new VersionCheck({ size, pages: [page], sha256 }).add(1, second);
  assertEquals(skipped, "chunk 0 of 3 is missing");
  assertEquals(
    problemWith(first, second, last.subarray(1)),
    "chunk 2 of 3 has 9 bytes instead of 10",
  );
  const changed = second.slice();
  changed[0] = (changed[0] ?? 0) ^ 1;
  assertEquals(problemWith(first, changed, last), "chunk 1 of 3 does not match its checksum");
});

Deno.test("a page of checksums that is missing or cut short is reported", () => {
  const { chunks, size, sha256, page } = someVersion();
  for (const pages of [[], [null], [page.subarray(1)], [new Uint8Array([...page, 0])]]) {
    const problem = problemOf(new VersionCheck({ size, pages, sha256 }), chunks);
    assertEquals(problem, "page 0 of its checksums is missing or incomplete");
  }
});

Deno.test("the bytes must have the digest of the record and the digest of the checksums", () => {
  const { chunks, size, sha256, page } = someVersion();
  const other = digest(bytes(1));
  const pageOfOther = pageOf(chunks, other);
  for (
    const [record, pages] of [[other, page], [sha256, pageOfOther], [
      undefined,
      pageOfOther,
    ]] as const
  ) {
    const check = new VersionCheck({ size, pages: [pages], sha256: record });
    assertEquals(problemOf(check, chunks), OTHER_BYTES);
  }
});
