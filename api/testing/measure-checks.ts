// Prints how many MiB of memory this process gains while eight accounts check a hostile service file concurrently.
import { ServiceFileChecker } from '../service-file-check/checker.ts';

const [elements = '64000'] = process.argv.slice(2);
const yaml = `x: [${'a,'.repeat(Number(elements))}a]\n`;
const files = Object.fromEntries([0, 1, 2].map((index) => [`${index}.yaml`, Buffer.from(yaml).toString('base64')]));
const serviceFile = 'include: [0.yaml, 1.yaml, 2.yaml]';
// Only memory is measured: on a busy machine a check takes longer than the API permits.
const times = { deadlineMs: 600_000, queueDeadlineMs: 600_000 };
const checker = new ServiceFileChecker({ refused: () => undefined }, times);
const before = process.memoryUsage.rss();
let peak = before;
const timer = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 5);
const accounts = Array.from({ length: 8 }, (_, index) => `account-${index}`);
const answers = await Promise.all(
  accounts.map((account) => checker.check(account, { mode: 'repo', serviceFile, files, variables: [] })),
);
clearInterval(timer);
const errors = answers.map((answer) => answer.errors[0]?.message);
process.stdout.write(JSON.stringify({ mebibytes: (peak - before) / 1024 / 1024, errors }));
