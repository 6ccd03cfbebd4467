/** The longest life of a key or a link, and time until a file expires, in seconds: ten years of 365 days. */
export const MAX_EXPIRES_IN = 315_360_000;

/** The most days of a project's usage that are kept and returned. */
export const MAX_USAGE_DAYS = 400;

/** The days of usage that are returned unless a request says otherwise. */
export const DEFAULT_USAGE_DAYS = 30;

/** The longest time that the trash of a project keeps files, in days. */
export const MAX_TRASH_DAYS = 365;
