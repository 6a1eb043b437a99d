// Loaded before a part of Coppice (node --import): on SIGUSR2 its clock jumps by CLOCK_JUMP_SECONDS, as if somebody had
// set it. It runs from a ConfigMap, so it must not import anything of this repository.
const RealDate = Date;
let aheadMs = 0;
const now = () => RealDate.now() + aheadMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length > 0 ? given : [now()], newTarget) as Date,
  get: (target, name): unknown => (name === 'now' ? now : Reflect.get(target, name)),
});
process.on('SIGUSR2', () => {
  aheadMs += Number(process.env['CLOCK_JUMP_SECONDS']) * 1000;
  console.log(`failed: the clock is at ${new Date().toISOString()}`);
});

export {};
