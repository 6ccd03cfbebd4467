import { assertEquals } from "@std/assert";
import { typeOf } from "./kinds.ts";

Deno.test("A type has a name that people use", () => {
  const cases: [name: string, contentType: string | undefined, kind: string, label: string][] = [
    ["a.jpg", "image/jpeg", "image", "JPEG image"],
    ["trip/A.JPEG", undefined, "image", "JPEG image"],
    ["a.png", "application/octet-stream", "image", "PNG image"],
    ["paper.pdf", "application/pdf", "document", "PDF document"],
    ["backup.tar.gz", undefined, "archive", "Compressed file"],
    ["photo", "image/jpeg", "image", "JPEG image"],
    ["photo", "image/x-canon; q=1", "image", "CANON image"],
    ["drawing", "image/svg+xml", "image", "SVG image"],
    ["notes", "text/plain", "document", "Text"],
    ["data.parquet", "application/octet-stream", "other", "PARQUET file"],
    ["README", undefined, "other", "File"],
    [".profile", undefined, "other", "File"],
    ["v1.2 final draft", undefined, "other", "File"],
    ["x.constructor", undefined, "other", "File"],
  ];
  for (const [name, content_type, kind, label] of cases) {
    const entry = { kind: "file" as const, name, ...(content_type && { content_type }) };
    assertEquals(typeOf(entry), { kind, label } as ReturnType<typeof typeOf>, name);
  }
});

Deno.test("A folder is a folder, even if its name ends like that of a file", () => {
  assertEquals(typeOf({ kind: "folder", name: "a.jpg/" }).label, "Folder");
});
