/** Number of characters of a commit that people read. */
export const shortCommit = 7;
