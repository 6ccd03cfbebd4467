/** The longest time until a file expires, in seconds: ten years of 365 days. */
export const MAX_EXPIRES_IN = 315_360_000;
