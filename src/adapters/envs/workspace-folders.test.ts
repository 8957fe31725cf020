import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { TirelessError } from '../../domain/error.ts'
import { SUB_AGENTS_FOLDER } from '../../domain/sub-agent.ts'
import { createWorkspaceFolders } from './workspace-folders.ts'

function openFolders(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'tireless-folders-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const workspaces = join(root, 'workspaces')
  mkdirSync(workspaces)
  return { root, workspaces, folders: createWorkspaceFolders({ root, workspaces, removed: join(root, 'removed') }) }
}

test('O7, E17: empty folders go with their runs, and copies of sub-agents whose work is elsewhere', async (t) => {
  const { workspaces, folders } = openFolders(t)
  const paths = {
    empty: 'writer-run1',
    withResults: 'writer-run2/报告.md',
    repository: 'writer-run3/.git',
    merged: `${SUB_AGENTS_FOLDER}/writer-run4/.git`,
    notMerged: `${SUB_AGENTS_FOLDER}/writer-run5/.git`,
    running: `${SUB_AGENTS_FOLDER}/writer-run6/.git`,
    lasting: 'writer/sub',
  }
  for (const path of Object.values(paths)) mkdirSync(join(workspaces, path), { recursive: true })
  const runs = ['run1', 'run2', 'run3', 'run4', 'run5'].map((run_id) => ({ run_id, isMerged: run_id === 'run4' }))
  await folders.deleteOfRuns(runs)
  const left = Object.entries(paths).flatMap(([name, path]) => (existsSync(join(workspaces, path)) ? [name] : []))
  assert.deepEqual(left, ['withResults', 'repository', 'notMerged', 'running', 'lasting'])
})

const DAY = 86_400_000

test('O7: a removed workspace comes back within seven days, and never over something else', async (t) => {
  const { root, workspaces, folders } = openFolders(t)
  const workspace = join(workspaces, 'w')
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'a.txt'), 'a')
  await folders.remove({ id: 'removed-1', workspace, bytes: 1, files: 1, removed_at: 1000 })
  assert.equal(existsSync(workspace), false)
  assert.deepEqual(await folders.deleteExpired(999 + 7 * DAY), [])
  mkdirSync(workspace)
  writeFileSync(join(workspace, 'new.txt'), 'new')
  await assert.rejects(
    folders.bringBack('removed-1'),
    (error) => error instanceof TirelessError && error.code === 'conflict',
  )
  rmSync(join(workspace, 'new.txt'))
  await folders.bringBack('removed-1')
  assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'a')
  assert.deepEqual(await folders.removed(), [])

  const elsewhere = join(root, 'elsewhere')
  mkdirSync(elsewhere)
  symlinkSync(elsewhere, join(workspaces, 'link'))
  await folders.remove({ id: 'removed-2', workspace: join(workspaces, 'link'), bytes: 0, files: 0, removed_at: 1000 })
  assert.deepEqual(
    (await folders.deleteExpired(1000 + 7 * DAY)).map(({ id }) => id),
    ['removed-2'],
  )
  assert.ok(existsSync(elsewhere))
})
