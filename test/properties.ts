import fc from 'fast-check';

/**
 * Configures fast-check for the unit tests with a fixed seed, so that runs are reproducible; `npm run test:full` uses
 * new seeds with `COPPICE_SEED`. A failure reports its seed.
 */
fc.configureGlobal({ seed: Number(process.env.COPPICE_SEED ?? 1) });

export default fc;
