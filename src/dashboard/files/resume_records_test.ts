import { assertEquals } from "@std/assert";
import { MAX_RESUME_RECORDS } from "./limits.js";
import { ResumeRecords } from "./resume_records.js";
import { memoryStorage } from "./test_support.ts";

const RECORD = {
  project: "p",
  drive: "d",
  name: "film.mp4",
  size: 7,
  lastModified: 5,
  uploadId: "u1",
  partSize: 10,
};

Deno.test("A record is found by place, size and time, also after a reload", () => {
  const storage = memoryStorage();
  new ResumeRecords(storage).save(RECORD);
  const records = new ResumeRecords(storage);
  assertEquals(records.find(RECORD, RECORD), RECORD);
  for (const other of [{ drive: "e" }, { project: "q" }, { name: "Film.mp4" }]) {
    assertEquals(records.find({ ...RECORD, ...other }, RECORD), undefined);
  }
  for (const other of [{ size: 8 }, { lastModified: 6 }]) {
    assertEquals(records.find(RECORD, { ...RECORD, ...other }), undefined);
  }
  records.remove("u1");
  assertEquals(records.all(), []);
});

Deno.test("Foreign data and an unavailable storage count as no record", () => {
  for (const text of ["", "{}", "[1, null, {}]", "nonsense", '[{"project": 1}]']) {
    const storage = { getItem: () => text, setItem: () => {} };
    assertEquals(new ResumeRecords(storage).all(), []);
  }
  const refuse = () => {
    throw new DOMException("Full", "QuotaExceededError");
  };
  new ResumeRecords({ getItem: () => null, setItem: refuse }).save(RECORD);
  assertEquals(new ResumeRecords({ getItem: refuse, setItem: refuse }).all(), []);
  assertEquals(new ResumeRecords(undefined).all(), []);
});

Deno.test("The oldest records are dropped above the limit", () => {
  const records = new ResumeRecords(memoryStorage());
  for (let index = 0; index <= MAX_RESUME_RECORDS; index++) {
    records.save({ ...RECORD, uploadId: `u${index}` });
  }
  assertEquals(records.all().length, MAX_RESUME_RECORDS);
  assertEquals([records.byId("u0"), records.byId("u1")?.uploadId], [undefined, "u1"]);
});
