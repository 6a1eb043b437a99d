/** Says of a Group that an end-to-end test made it: one that a killed run left is taken away by the next. */
export const TEST_GROUP_LABEL = 'test.coppice.dev/end-to-end';
