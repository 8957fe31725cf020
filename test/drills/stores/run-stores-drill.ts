/** The command of the drill of the stores: chooses files, runs them, prints what ran and what did not. */

import { chooseFiles, findStaleFiles } from './choose-files.ts'
import { drillStores } from './drill-stores.ts'

/** Contract: the exit code. */
export async function runStoresDrill(patterns: readonly string[], lanes: number, long: boolean): Promise<number> {
  const { run, leftOut: files } = chooseFiles(patterns, long)
  const result = await drillStores(run, lanes, console.log)
  const staleEntries = [...findStaleFiles(), ...result.stale]
  for (const { title, detail } of result.failures) console.log(`\nFAIL ${title}\n${detail.replace(/^(?=.)/gm, '  ')}`)
  console.log('')
  for (const [reason, paths] of files) console.log(`left out: ${paths.length} files: ${reason}`)
  for (const { title, reason } of result.leftOut) console.log(`left out: ${title}: ${reason}`)
  for (const path of result.withoutHomes) console.log(`opened no home on PostgreSQL: ${path}`)
  for (const entry of staleEntries) console.log(`FAIL left-out.ts: names no test, or one that passes: ${entry}`)
  const failed = result.failures.length + staleEntries.length
  console.log(`\n${result.files} files with ${result.databases} homes ran on PostgreSQL`)
  console.log(`${result.passed} passed, ${failed} failed`)
  return failed === 0 && result.passed > 0 ? 0 : 1
}
