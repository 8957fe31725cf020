/**
 * An editor that saves all the time: it reads a document, adds a numbered line and saves it, in each way that editors
 * do.
 * Arguments: file, name, number of saves.
 */

import fs from 'node:fs'

/** The number of its own lines that it keeps, so that the document stays small. */
const MAX_LINES = 100
/** Saves between two writes of the kernel. With more, its lines would be dropped before the kernel has seen them. */
const SAVES_PER_CYCLE = 8

const [, , file = '', name = '', saves = '0'] = process.argv

const SAVE_METHODS: readonly ((text: string) => void)[] = [saveByRename, saveInPlace, saveWithBackup, saveByHandle]

let cycle = ''
for (let n = 0; n < Number(saves); n += 1) {
  if (n % SAVES_PER_CYCLE === 0) cycle = nextCycle(cycle)
  const text = addLine(readDocument(), `- saved by ${name}: ${n}\n`)
  SAVE_METHODS[n % SAVE_METHODS.length]?.(text)
  pause((n * 7) % 3)
}

/** Reads again while the file is missing or empty because another process is saving it. */
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

function nextCycle(previous: string): string {
  for (;;) {
    const [found = ''] = /- cycle_id: \S+/.exec(readDocument()) ?? []
    if (found !== '' && found !== previous) return found
    pause(1)
  }
}

/** Varies the moment of a save relative to the writes of the kernel. */
function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function addLine(text: string, line: string): string {
  const lines = text.split(/(?<=\n)/)
  const ownLines = lines.filter((each) => each.startsWith(`- saved by ${name}:`))
  const droppedLines = new Set(ownLines.slice(MAX_LINES))
  const notesIndex = lines.findIndex((each) => each.startsWith('## notes')) + 1
  return [
    ...lines.slice(0, notesIndex),
    line,
    ...lines.slice(notesIndex).filter((each) => !droppedLines.has(each)),
  ].join('')
}

function saveByRename(text: string): void {
  fs.writeFileSync(`${file}.${name}`, text)
  fs.renameSync(`${file}.${name}`, file)
}

function saveInPlace(text: string): void {
  fs.writeFileSync(file, text)
}

/** Saves like vim: rename the old file to a backup, write the new one, delete the backup. */
function saveWithBackup(text: string): void {
  try {
    fs.renameSync(file, `${file}~`)
  } catch (thrown) {
    if ((thrown as { code?: string }).code !== 'ENOENT') throw thrown
  }
  fs.writeFileSync(file, text)
  fs.rmSync(`${file}~`, { force: true })
}

/** Truncates through an open handle, then writes: the file is empty for a moment. */
function saveByHandle(text: string): void {
  const handle = fs.openSync(file, fs.constants.O_WRONLY | fs.constants.O_CREAT)
  fs.ftruncateSync(handle)
  fs.writeSync(handle, text, 0)
  fs.closeSync(handle)
}
