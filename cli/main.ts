// Entry point of the bundled command line: `coppice`, or `kubectl-coppice` as a plugin of kubectl.
import { basename } from 'node:path';
import { processIo } from './io.ts';
import { runProgram } from './program.ts';

/** What a shell reports of a program that SIGPIPE has ended. */
const brokenPipe = 141;

// A reader that closes the pipe early, such as `head`, ends the command without a message.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(brokenPipe);
    throw error;
  });
}

const called = basename(process.argv[1] ?? '').replace(/\.m?js$/, '');
const name = called === 'kubectl-coppice' ? 'kubectl coppice' : 'coppice';
// The bundle format has no top-level await.
void runProgram(processIo(), name, process.argv.slice(2)).then((code) => {
  // Open keep-alive connections would delay the end; the output must be written before it.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
