import { describe, expect, it } from '@jest/globals';
import { buildEnvironment, concurrencyFlags } from './compiler-settings.ts';

const GIBIBYTE = 2 ** 30;

describe('the settings of a build', () => {
  it.each([
    {
      what: 'no garbage collection, and one thread for each of three compilers',
      machine: { processors: 2, memory: 8 * GIBIBYTE },
      env: { GOGC: 'off', GOMEMLIMIT: String(GIBIBYTE), GOMAXPROCS: '1' },
      flags: ['-p', '3'],
    },
    {
      what: 'little garbage collection where a compiler has less than 1 GiB',
      machine: { processors: 2, memory: 8 * GIBIBYTE - 8 },
      env: { GOGC: '400', GOMAXPROCS: '1' },
      flags: ['-p', '3'],
    },
    {
      what: "Go's own number of threads on more than four processors",
      machine: { processors: 8, memory: 64 * GIBIBYTE },
      env: { GOGC: 'off', GOMEMLIMIT: String(3.2 * GIBIBYTE).split('.')[0] },
      flags: ['-p', '9'],
    },
  ])('are $what', ({ machine, env, flags }) => {
    expect(buildEnvironment(machine)).toEqual(env);
    expect(concurrencyFlags(machine)).toEqual(flags);
  });
});
