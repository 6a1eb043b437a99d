// Runs a Jest test file with Node's own module loader, instead of in a global object of its own. Jest's sandbox loads
// and compiles every module again for each file, which takes half of the time of our unit tests. Files that run in the
// same process share modules. Mocked modules and snapshots, which nothing here uses, are not supported.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { createEmptyTestResult, type AssertionResult, type TestResult } from '@jest/test-result';
import type { Circus, Config } from '@jest/types';
import { getState, resetState, run } from 'jest-circus';
import { formatExecError, formatResultsErrors } from 'jest-message-util';
import { configureTimers, restoreReplaced } from './globals.ts';
import { saveProcessState } from './process-state.ts';
import { takeExpectationErrors, watchUnhandledErrors } from './unhandled-errors.ts';

// `@jest/globals` throws an error when it is imported outside Jest's sandbox.
registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === '@jest/globals'
      ? nextResolve('./globals.ts', { ...context, parentURL: import.meta.url })
      : nextResolve(specifier, context),
});

/** Runs the tests of a file, and returns their results: what Jest calls a test runner. */
export default async function runTestFile(
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  _environment: unknown,
  _runtime: unknown,
  testPath: string,
): Promise<TestResult> {
  resetState();
  const state = getState();
  if (globalConfig.testTimeout !== undefined) state.testTimeout = globalConfig.testTimeout;
  state.testNamePattern = globalConfig.testNamePattern ? new RegExp(globalConfig.testNamePattern, 'i') : null;
  jestExpect.setState({ expand: globalConfig.expand, testPath });
  configureTimers(config);
  // Drops errors that hooks of the previous file have recorded.
  takeExpectationErrors();
  const restoreProcess = saveProcessState();
  const stopWatching = watchUnhandledErrors();
  try {
    await import(pathToFileURL(testPath).href);
    return fileResult(await run(), globalConfig, config, testPath);
  } finally {
    restoreReplaced();
    stopWatching();
    restoreProcess();
  }
}

function fileResult(
  { testResults, unhandledErrors, unhandledErrorsDetailed }: Circus.RunResult,
  globalConfig: Config.GlobalConfig,
  config: Config.ProjectConfig,
  testPath: string,
): TestResult {
  const assertions = testResults.map(assertionResult);
  const count = (wanted: AssertionResult['status']) => assertions.filter(({ status }) => status === wanted).length;
  const testFailures = formatResultsErrors(assertions, config, globalConfig, testPath);
  const fileErrors = unhandledErrorsDetailed.map((error) => formatExecError(error, config, globalConfig));
  return {
    ...createEmptyTestResult(),
    displayName: config.displayName,
    failureMessage: [testFailures ?? [], fileErrors].flat().join('\n\n') || null,
    numFailingTests: count('failed'),
    numPassingTests: count('passed'),
    numPendingTests: count('pending'),
    numTodoTests: count('todo'),
    testExecError: unhandledErrors.length > 0 ? { message: '', stack: unhandledErrors.join('\n') } : undefined,
    testFilePath: testPath,
    // A worker sends its results as JSON, which not every thrown value survives.
    testResults: assertions.map((assertion) => ({ ...assertion, failureDetails: [] })),
  };
}

const STATUS = { skip: 'pending', todo: 'todo' } as const;

function assertionResult({ testPath, status, errors, errorsDetailed, ...rest }: Circus.TestResult): AssertionResult {
  const [, ...names] = testPath;
  // A failed `beforeAll` adds its error to skipped tests, too.
  const counted = status === 'done' ? errors : [];
  const outcome = errors.length > 0 ? 'failed' : 'passed';
  return {
    ancestorTitles: names.slice(0, -1),
    title: names.at(-1) ?? '',
    fullName: names.join(' '),
    status: status === 'done' ? outcome : STATUS[status],
    duration: rest.duration,
    failureDetails: errorsDetailed,
    failureMessages: counted,
    invocations: rest.invocations,
    location: rest.location,
    numPassingAsserts: rest.numPassingAsserts,
    retryReasons: rest.retryReasons,
    startAt: rest.startedAt,
  };
}
