import type { Experiment } from "./experiment.ts";
import { besideUploads } from "./row_beside_uploads.ts";
import { completeUpload } from "./row_complete.ts";
import { downloadLarge } from "./row_download_large.ts";
import { downloadSmall } from "./row_download_small.ts";
import { gate } from "./row_gate.ts";
import { listDirectories, listLarge } from "./row_list.ts";
import { memory } from "./row_memory.ts";
import { uploadParts } from "./row_parts.ts";
import { start } from "./row_start.ts";
import { uploadLarge } from "./row_upload_large.ts";
import { overwriteSmall, uploadSmall } from "./row_upload_small.ts";

/** All that is measured, in the order of the report. */
export const EXPERIMENTS: readonly Experiment[] = [
  downloadSmall,
  uploadSmall,
  overwriteSmall,
  ...downloadLarge,
  uploadLarge,
  uploadParts,
  besideUploads,
  listLarge,
  listDirectories,
  completeUpload,
  gate,
  memory,
  start,
];
