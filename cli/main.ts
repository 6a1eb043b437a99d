// Entry point of the bundled command line: `coppice`, or `kubectl-coppice` as a plugin of kubectl.
import { basename } from 'node:path';
import { processIo } from './io.ts';
import { runProgram } from './program.ts';

// A reader that has enough, such as `head`, ends the command without a message.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

const called = basename(process.argv[1] ?? '').replace(/\.m?js$/, '');
const name = called === 'kubectl-coppice' ? 'kubectl coppice' : 'coppice';
// Without `await` at the top level, which the form of the bundle does not have.
void runProgram(processIo(), name, process.argv.slice(2)).then((code) => {
  // Connections that are kept open would delay the end; what was written has to arrive first.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code)));
});
