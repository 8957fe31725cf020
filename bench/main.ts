/**
 * npm run bench -- engine [--quick]
 *
 * Measures ours and the peers side by side in one run, prints one table of ratios, and leaves it in bench/results as JSON and as a
 * plot. Figures of two machines, or of two runs, are not to be compared; ratios are.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { measureEngine } from './engine.ts'
import { ensurePeers } from './peers/install.ts'
import { plot } from './plot.ts'
import { report } from './report.ts'

const USAGE = 'usage: npm run bench -- engine [--quick]'
const RESULTS = join(import.meta.dirname, 'results')

async function engine(quick: boolean): Promise<number> {
  const say = (line: string): void => console.error(line)
  const missing = ensurePeers(say)
  if (missing) say(`without the peers: ${missing}`)
  mkdirSync(RESULTS, { recursive: true })
  // Not the system's folder for temporary files: that may be memory, where nothing is ever synced.
  const folder = mkdtempSync(join(RESULTS, 'run-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
  const results = await measureEngine({ quick, folder, withoutPeers: missing !== undefined, say })
  const [json, picture] = [join(RESULTS, 'engine.json'), join(RESULTS, 'engine.svg')]
  writeFileSync(json, `${JSON.stringify(results, undefined, 2)}\n`)
  writeFileSync(picture, plot(results))
  console.log(`\n${report(results)}\n\n${relative('', json)}\n${relative('', picture)}`)
  return missing ? 1 : 0
}

async function main(args: readonly string[]): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { quick: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    if (positionals.length === 1 && positionals[0] === 'engine') return await engine(values.quick)
    console.error(USAGE)
  } catch (error) {
    if (!(error instanceof TypeError && 'code' in error)) throw error
    console.error(`${error.message}\n${USAGE}`)
  }
  return 2
}

process.exitCode = await main(process.argv.slice(2))
