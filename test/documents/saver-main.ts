/**
 * An editor that never rests: reads a document, adds a line with a number, saves it, over and over, in each way that editors save.
 * Arguments: file, name, how many saves.
 */

import fs from 'node:fs'

/** Its own lines that it leaves standing, so that the document stays small. */
const MOST_LINES = 100
/** Saves between two writings of the kernel. More would take its own lines out before the kernel has seen them. */
const SAVES_PER_CYCLE = 8

const [, , file = '', name = '', saves = '0'] = process.argv

const WAYS: readonly ((text: string) => void)[] = [saveByRename, saveInPlace, saveWithBackup, saveByHandle]

let cycle = ''
for (let n = 0; n < Number(saves); n += 1) {
  if (n % SAVES_PER_CYCLE === 0) cycle = nextCycle(cycle)
  const text = edited(readDocument(), `- saved by ${name}: ${n}\n`)
  WAYS[n % WAYS.length]?.(text)
  rest((n * 7) % 3)
}

/** Where it is being replaced at this moment, or empty in the middle of somebody's save: what comes next. */
function readDocument(): string {
  for (;;) {
    try {
      const text = fs.readFileSync(file, 'utf8')
      if (text.trim() !== '') return text
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== 'ENOENT') throw thrown
    }
  }
}

function nextCycle(former: string): string {
  for (;;) {
    const [found = ''] = /- cycle_id: \S+/.exec(readDocument()) ?? []
    if (found !== '' && found !== former) return found
    rest(1)
  }
}

/** Saves come at any moment of the kernel's, not all at the same one. */
function rest(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function edited(text: string, line: string): string {
  const lines = text.split(/(?<=\n)/)
  const own = lines.filter((one) => one.startsWith(`- saved by ${name}:`))
  const old = new Set(own.slice(MOST_LINES))
  const at = lines.findIndex((one) => one.startsWith('## notes')) + 1
  return [...lines.slice(0, at), line, ...lines.slice(at).filter((one) => !old.has(one))].join('')
}

function saveByRename(text: string): void {
  fs.writeFileSync(`${file}.${name}`, text)
  fs.renameSync(`${file}.${name}`, file)
}

function saveInPlace(text: string): void {
  fs.writeFileSync(file, text)
}

/** As vim does: the old one becomes a backup, the new one is written, the backup goes. */
function saveWithBackup(text: string): void {
  try {
    fs.renameSync(file, `${file}~`)
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== 'ENOENT') throw thrown
  }
  fs.writeFileSync(file, text)
  fs.rmSync(`${file}~`, { force: true })
}

/** Empty for a moment, then all of it, through a handle that was opened before. */
function saveByHandle(text: string): void {
  const handle = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_CREAT)
  fs.ftruncateSync(handle)
  fs.writeSync(handle, text, 0)
  fs.closeSync(handle)
}
