/**
 * Every limit of the files half of the page, with its unit. Sizes are bytes, times are milliseconds.
 *
 * @module
 */

const MIB = 2 ** 20;

/** Files above this go up in parts: the server takes no more than 10 MB in one request. */
export const SINGLE_REQUEST = 10_000_000;

/** Size of a part, the largest that the server takes; the last part is smaller. */
export const PART_SIZE = 10 * MIB;

/** Parts of one upload at the most, as the server has it. */
export const MAX_PARTS = 10_000;

/** Files that go up at once. */
export const FILES_AT_ONCE = 3;

/** Requests with a body at once: a browser opens six connections to a server, and lists need some of them meanwhile. */
export const REQUESTS_AT_ONCE = 4;

/** Waits before a request that failed in passing is sent again: so often it is, then a person decides. */
export const RETRY_WAITS = [1000, 2000, 4000];

/** The time that the shown speed is the average of. */
export const SPEED_WINDOW = 8000;

/** Uploads that are remembered for going on with them; beyond that the oldest are forgotten. */
export const MAX_RESUME_RECORDS = 500;

/** Entries of a folder that are asked for at once, the most that the server gives. */
export const PAGE = 1000;

/** Rows that a list holds: beyond that a browser cannot make the scrolled box high enough. */
export const MAX_ROWS = 500_000;

/** Names in one delete request, the most that the server takes. */
export const MAX_DELETE_NAMES = 1000;

/** Requests at once that look whether names are taken. */
export const LOOKS_AT_ONCE = 4;

/** What a preview loads at the most, by its kind. A text shows its beginning, anything else is not shown beyond. */
export const MAX_PREVIEW = {
  text: MIB,
  image: 50 * MIB,
  pdf: 100 * MIB,
  audio: 200 * MIB,
  video: 200 * MIB,
};

/** A download above this goes to the disk while it comes, where the browser can do that. */
export const DOWNLOAD_IN_MEMORY = 200 * MIB;

/** Transfers that a list shows one by one; of more it tells the number. */
export const MAX_SHOWN_TRANSFERS = 100;
