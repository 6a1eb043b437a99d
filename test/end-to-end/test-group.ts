/** Label of Groups that end-to-end tests created, so that the next run can delete those of a killed one. */
export const TEST_GROUP_LABEL = 'test.coppice.dev/end-to-end';
