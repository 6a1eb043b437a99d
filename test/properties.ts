import fc from 'fast-check';

/**
 * fast-check for the unit tests: the same cases in each run, so that what passed passes again; `npm run test:full` takes
 * new ones each time, by `COPPICE_SEED`. Whatever fails says its seed.
 */
fc.configureGlobal({ seed: Number(process.env.COPPICE_SEED ?? 1) });

export default fc;
