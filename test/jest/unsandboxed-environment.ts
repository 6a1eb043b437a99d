import type { JestEnvironment } from '@jest/environment';
import { ModuleMocker } from 'jest-mock';

/** An environment of Jest without a global object of its own: tests run in the global object of their process. */
export default class UnsandboxedEnvironment implements Pick<JestEnvironment, 'setup' | 'getVmContext'> {
  readonly global = {};
  readonly moduleMocker = new ModuleMocker(globalThis);

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {}

  getVmContext(): null {
    return null;
  }
}
