/** The refs of the repository of snapshots. */

import { existsSync, mkdirSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile } from '../../../files/whole-files.ts'

/** For each step that wrote, the tree of its snapshot. */
export class SnapshotRefs {
  readonly #folder: string

  constructor(repository: string) {
    this.#folder = join(repository, 'refs', 'steps')
  }

  hasAny(run_id: string): boolean {
    return existsSync(join(this.#folder, run_id))
  }

  write(run_id: string, turn: number, tree: string): void {
    mkdirSync(join(this.#folder, run_id), { recursive: true, mode: 0o700 })
    replaceFile(join(this.#folder, run_id, String(turn)), `${tree}\n`)
  }

  remove(run_id: string): Promise<void> {
    return rm(join(this.#folder, run_id), { recursive: true, force: true })
  }

  /** The snapshots of a run, oldest first. */
  async treesOf(run_id: string): Promise<readonly { readonly turn: number; readonly tree: string }[]> {
    const folder = join(this.#folder, run_id)
    const names = await readdir(folder).catch(() => [])
    const turns = names.filter((name) => /^\d+$/.test(name)).map(Number)
    const read = async (turn: number) => ({ turn, tree: (await readFile(join(folder, String(turn)), 'utf8')).trim() })
    const found = await Promise.all(turns.sort((a, b) => a - b).map(read))
    // A killed process may have left an incomplete ref.
    return found.filter(({ tree }) => /^[0-9a-f]{40}$/.test(tree))
  }

  /** Contract: refs that name a tree of `changed` name the other one instead, or go if there is none. */
  async replaceTrees(changed: ReadonlyMap<string, string | undefined>): Promise<void> {
    for (const run_id of await readdir(this.#folder).catch(() => []))
      for (const { turn, tree } of await this.treesOf(run_id)) {
        const other = changed.get(tree)
        if (other !== undefined) this.write(run_id, turn, other)
        else if (changed.has(tree)) await rm(join(this.#folder, run_id, String(turn)), { force: true })
      }
  }

  async allTrees(): Promise<readonly string[]> {
    return (await this.named()).map(({ tree }) => tree)
  }

  async named(): Promise<readonly { readonly writer: string; readonly tree: string }[]> {
    const runs = await readdir(this.#folder).catch(() => [])
    const found = await Promise.all(
      runs.map(async (writer) => (await this.treesOf(writer)).map(({ tree }) => ({ writer, tree }))),
    )
    return found.flat()
  }
}
