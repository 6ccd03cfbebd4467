import { PART_SIZE } from "./limits.js";
import { statusOf } from "./retry.js";

/** @import { Place, UploadApi } from "./upload_task.js" */
/** @import { ResumeRecords } from "./resume_records.js" */

/**
 * An open upload on the server, and the parts that have arrived.
 *
 * @typedef {object} OpenedUpload
 * @property {string} id
 * @property {number} partSize bytes
 * @property {readonly {part: number, size: number}[]} received
 * @property {boolean} isResumed
 *
 * @typedef {object} OpeningDependencies
 * @property {UploadApi} api
 * @property {ResumeRecords} records
 * @property {AbortSignal} signal
 * @property {<T>(action: () => Promise<T>) => Promise<T>} retrying runs an action with retries
 */

/**
 * The upload to continue: that of an earlier attempt or page if the server still has it, else a new one, which is
 * remembered.
 *
 * @param {Place} place
 * @param {File} file
 * @param {string | undefined} earlier id of the earlier attempt
 * @param {OpeningDependencies} dependencies
 * @returns {Promise<OpenedUpload>}
 */
export async function openUpload(place, file, earlier, dependencies) {
  const { api, records, signal, retrying } = dependencies;
  const { project, drive, name } = place;
  const record = earlier === undefined ? records.find(place, file) : records.byId(earlier);
  const known = earlier ?? record?.uploadId;
  if (known !== undefined) {
    const received = await receivedParts(place, known, dependencies);
    const partSize = record?.partSize ?? PART_SIZE;
    if (received !== undefined) return { id: known, partSize, received, isResumed: true };
    records.remove(known);
  }
  const { size, lastModified, type } = file;
  const start = () => api.startUpload(project, drive, name, { type, signal });
  const { upload_id: id } = await retrying(start);
  records.save({ project, drive, name, size, lastModified, uploadId: id, partSize: PART_SIZE });
  return { id, partSize: PART_SIZE, received: [], isResumed: false };
}

/**
 * @param {Place} place
 * @param {string} id
 * @param {OpeningDependencies} dependencies
 * @returns {Promise<readonly {part: number, size: number}[] | undefined>} `undefined` if the upload has ended
 */
async function receivedParts({ project, drive, name }, id, { api, signal, retrying }) {
  try {
    return (await retrying(() => api.uploadState(project, drive, id, name, signal))).parts;
  } catch (error) {
    // It expired, was aborted or completed: start a new upload.
    if (statusOf(error) === 404 || statusOf(error) === 409) return undefined;
    throw error;
  }
}
