/**
 * Limits of the file views. Sizes are bytes, times are milliseconds.
 *
 * @module
 */

const MIB = 2 ** 20;

/** Larger files are uploaded in parts: the server accepts 10 MB in one request. */
export const SINGLE_REQUEST = 10_000_000;

/** Size of a part, the largest that the server accepts; the last part is smaller. */
export const PART_SIZE = 10 * MIB;

/** Maximum number of parts of an upload (the server's limit). */
export const MAX_PARTS = 10_000;

/** Concurrent file uploads. */
export const FILES_AT_ONCE = 3;

/** Concurrent requests with a body: browsers open six connections to a server, and lists need some of them. */
export const REQUESTS_AT_ONCE = 4;

/** Waits before the retries of a temporarily failed request; after the last one the user decides. */
export const RETRY_WAITS = [1000, 2000, 4000];

/** Averaging time of the displayed speed. */
export const SPEED_WINDOW = 8000;

/** Number of interrupted uploads that are remembered for resuming; the oldest are dropped. */
export const MAX_RESUME_RECORDS = 500;

/** Entries of a page of a list (the server's maximum). */
export const PAGE = 1000;

/** Maximum rows of a list: browsers limit the height of a scrolled element. */
export const MAX_ROWS = 500_000;

/** Names in one delete request (the server's maximum). */
export const MAX_DELETE_NAMES = 1000;

/** Concurrent requests that check if names exist. */
export const LOOKUPS_AT_ONCE = 4;

/** Maximum bytes of a preview, by kind. Of a longer text the beginning is shown; other kinds are not shown. */
export const MAX_PREVIEW = {
  text: MIB,
  image: 50 * MIB,
  pdf: 100 * MIB,
  audio: 200 * MIB,
  video: 200 * MIB,
};

/** Larger downloads are streamed to the disk if the browser can do that. */
export const DOWNLOAD_IN_MEMORY = 200 * MIB;

/** Maximum transfers in a list; of the others it shows the number. */
export const MAX_SHOWN_TRANSFERS = 100;
