import type { Harness } from './harness.ts';

/** Runs a command in a pod with Node.js, and returns what it prints. @throws if it has not succeeded after 90 s */
export async function printedInPod(harness: Harness, namespace: string, command: readonly string[]): Promise<string> {
  // A pod that an interrupted run leaves behind has another name.
  const name = `caller-${harness.group}`;
  const at = ['--namespace', namespace];
  await harness.kubectl(['run', name, ...at, '--image=node:24-slim', '--restart=Never', '--', ...command]);
  try {
    const ended = '--for=jsonpath={.status.phase}=Succeeded';
    await harness.kubectl(['wait', `pod/${name}`, ...at, ended, '--timeout=90s'], { deadline: 100 });
    return await harness.kubectl(['logs', name, ...at]);
  } finally {
    await harness.kubectl(['delete', 'pod', name, ...at, '--wait=false']);
  }
}
