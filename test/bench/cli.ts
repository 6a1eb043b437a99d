import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildCli } from '../../cli/build.ts';
import type { Progress } from '../support/progress.ts';
import { secondsOf, type Figure } from './measure.ts';

const rounds = 20;
const target = '150 ms';
const execute = promisify(execFile);

/**
 * Measures how long the command line takes from its start to its end, compared with a Node process that does nothing.
 */
export async function benchCli(progress: Progress): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-cli-'));
  const server = createServer((_request, response) => response.end('[{"id":"acme","name":"acme"}]')).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  try {
    const file = join(folder, 'coppice.mjs');
    writeFileSync(file, await buildCli());
    const { port } = server.address() as AddressInfo;
    const env = {
      PATH: process.env['PATH'] ?? '',
      XDG_CONFIG_HOME: folder,
      COPPICE_URL: `http://127.0.0.1:${port}`,
      COPPICE_TOKEN: 'token',
    };
    const milliseconds = async (...args: string[]) =>
      1000 * (await secondsOf(() => execute(process.execPath, args, { env })));
    const commands = [['--version'], ['--help'], ['group', 'list']];
    const samples = commands.map((): number[] => []);
    const baseline: number[] = [];
    await progress.step(`${rounds} rounds`, async () => {
      for (let round = 0; round < rounds; round++) {
        baseline.push(await milliseconds('--eval', '0'));
        for (const [index, command] of commands.entries()) samples[index]?.push(await milliseconds(file, ...command));
      }
    });
    return commands.map((command, index) => ({
      name: `coppice ${command.join(' ')}`,
      unit: 'ms',
      samples: samples[index] ?? [],
      baseline: { name: 'node --eval 0', samples: baseline },
      target,
    }));
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
}
