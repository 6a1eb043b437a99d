// A worker thread that checks one service file and exits.
import { parentPort, workerData } from 'node:worker_threads';
import { checkServiceFile, type CheckInput } from './check.ts';

parentPort?.postMessage(await checkServiceFile(workerData as CheckInput));
