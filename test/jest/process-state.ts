const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** Saves the variables, signal handlers and exit code of this process. Returns a function that restores them. */
export function saveProcessState(): () => void {
  const { exitCode } = process;
  const variables = { ...process.env };
  const handlers = new Map(SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))]));
  return () => {
    process.exitCode = exitCode;
    for (const name of Object.keys(process.env)) if (!(name in variables)) Reflect.deleteProperty(process.env, name);
    for (const [name, value] of Object.entries(variables)) if (process.env[name] !== value) process.env[name] = value;
    for (const [signal, before] of handlers) {
      for (const handler of process.listeners(signal)) if (!before.has(handler)) process.off(signal, handler);
    }
  };
}
