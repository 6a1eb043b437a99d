import { ModernFakeTimers } from '@jest/fake-timers';
import type { Config } from '@jest/types';
import { getState } from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

export { jestExpect as expect } from '@jest/expect';
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';

const mocker = new ModuleMocker(globalThis);
let timers: ModernFakeTimers | undefined;

/** Prepares fake timers with the settings of a project. */
export function configureTimers(config: Config.ProjectConfig): void {
  timers ??= new ModernFakeTimers({ config, global: globalThis });
}

/** Restores the functions and the clock that a test file replaced. */
export function restoreReplaced(): void {
  mocker.restoreAllMocks();
  timers?.useRealTimers();
}

/** Functions that Node's streams call: if they are faked, connections of other tests hang. */
const USED_BY_NODE = ['nextTick', 'setImmediate', 'queueMicrotask'] as const;

/** The functions of `jest` that our tests use. */
export const jest = {
  spyOn: mocker.spyOn.bind(mocker),
  setTimeout(milliseconds: number) {
    getState().testTimeout = milliseconds;
  },
  useFakeTimers: (config?: { now?: Date | number; doNotFake?: Config.FakeableAPI[] }) =>
    timers?.useFakeTimers({ ...config, doNotFake: [...USED_BY_NODE, ...(config?.doNotFake ?? [])] }),
  useRealTimers: () => timers?.useRealTimers(),
  setSystemTime: (time: number | Date) => timers?.setSystemTime(time),
  advanceTimersByTime: (milliseconds: number) => timers?.advanceTimersByTime(milliseconds),
  advanceTimersByTimeAsync: async (milliseconds: number) => timers?.advanceTimersByTimeAsync(milliseconds),
};
