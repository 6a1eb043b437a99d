import { expect, test } from '@jest/globals';
import { shownService } from './shown-service.ts';

const message = 'the process exits with code 1';

test.each([
  [{ ready: true }, { status: 'built', isAsleep: false }, 'built ready'],
  [{ ready: true, job: true as const }, { status: 'built', isAsleep: false }, 'built completed'],
  [{ ready: true, message }, { status: 'built', isAsleep: true }, 'built ready'],
  [{ ready: false }, { status: 'built', isAsleep: true }, 'asleep asleep'],
  [{ ready: false }, { status: 'building', isAsleep: true }, 'asleep asleep'],
  [{ ready: false, message }, { status: 'built', isAsleep: true }, 'failed not ready'],
  [{ ready: false }, { status: 'building', isAsleep: false }, 'created waiting'],
  [{ ready: false, message }, { status: 'building', isAsleep: false }, 'failed not ready'],
  [{ ready: false }, { status: 'built', isAsleep: false }, 'failed not ready'],
])('%j of %j is shown as %s', (service, environment, shown) => {
  const { state, word } = shownService(service, environment);
  expect(`${state} ${word}`).toBe(shown);
});
