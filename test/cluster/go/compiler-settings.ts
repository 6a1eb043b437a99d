import { availableParallelism, totalmem } from 'node:os';

/** What a compilation can use. */
export interface Machine {
  processors: number;
  /** In bytes. */
  memory: number;
}

export const thisMachine = (): Machine => ({
  processors: availableParallelism(),
  memory: Math.min(totalmem(), process.constrainedMemory() || Infinity),
});

/** Omits symbols and DWARF, which take an eighth of the compile time and are used only for debugging. */
export const COMPILER_FLAGS = ['-v', '-trimpath', '-buildvcs=false', '-gcflags=all=-dwarf=false'];

const GIBIBYTE = 2 ** 30;
const maxCompilers = (processors: number): number => processors + 1;

/**
 * Returns the environment that limits the memory of `go` and its compilers, which are short processes: without garbage
 * collection they save a sixth of the processor time. With a limit below what the linker needs, Go would collect garbage
 * continuously.
 */
export function memoryEnvironment({ processors, memory }: Machine): Record<string, string> {
  // `go` runs beside the compilers, with the same limit, and half of the memory is for other programs.
  const maxOfEach = Math.floor(memory / 2 / (maxCompilers(processors) + 1));
  return maxOfEach >= GIBIBYTE ? { GOGC: 'off', GOMEMLIMIT: String(maxOfEach) } : { GOGC: '400' };
}

/** Returns the environment of a build. */
export function buildEnvironment(machine: Machine): Record<string, string> {
  // With few processors, one thread for each of several compilers takes less processor time than more threads.
  return { ...memoryEnvironment(machine), ...(machine.processors <= 4 && { GOMAXPROCS: '1' }) };
}

/** Returns the flags of `go build` for the number of compilers that run at once. */
export const concurrencyFlags = ({ processors }: Machine): string[] => ['-p', String(maxCompilers(processors))];
