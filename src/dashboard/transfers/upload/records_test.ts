import { assertEquals } from "@std/assert";
import { MAX_RECORDS, UploadRecords } from "./records.ts";
import { memoryStorage, TARGET } from "./test_support.ts";

const RECORD = { ...TARGET, size: 7, lastModified: 5, mayReplace: false, tab: "t" };

Deno.test("Records survive a reload, one for each name", () => {
  const storage = memoryStorage();
  new UploadRecords(storage).save([RECORD, { ...RECORD, name: "b" }]);
  const records = new UploadRecords(storage);
  const upload = { ...RECORD, uploadId: "u1" };
  records.save([upload]);
  assertEquals(records.all(), [{ ...RECORD, name: "b" }, upload]);
  records.remove(RECORD);
  assertEquals(records.all().map(({ name }) => name), ["b"]);
});

Deno.test("What others wrote and an unreadable storage count as no record", () => {
  for (const text of ["", "{}", "[1, null, {}]", "nonsense", '[{"project": 1}]']) {
    assertEquals(new UploadRecords({ getItem: () => text, setItem: () => {} }).all(), []);
  }
  const refuse = () => {
    throw new DOMException("Full", "QuotaExceededError");
  };
  new UploadRecords({ getItem: () => null, setItem: refuse }).save([RECORD]);
  assertEquals(new UploadRecords({ getItem: refuse, setItem: refuse }).all(), []);
});

Deno.test("The oldest records are dropped above the limit", () => {
  const records = new UploadRecords(memoryStorage());
  const many = Array.from({ length: MAX_RECORDS + 1 }, (_, i) => ({ ...RECORD, name: `${i}` }));
  records.save(many);
  assertEquals([records.all().length, records.all()[0]?.name], [MAX_RECORDS, "1"]);
});
