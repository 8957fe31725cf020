import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SUB_AGENTS_FOLDER } from '../../domain/sub-agent.ts'
import { removeRunFolders } from './remove-run-folders.ts'

test('E17, O9: folders go with their runs, copies of sub-agents too; repositories of others stay', async (t) => {
  const workspaces = mkdtempSync(join(tmpdir(), 'tireless-folders-'))
  t.after(() => rmSync(workspaces, { recursive: true, force: true }))
  const folders = {
    plain: 'writer-run1/sub',
    repository: 'writer-run2/.git',
    copy: `${SUB_AGENTS_FOLDER}/writer-run3/.git`,
    running: `${SUB_AGENTS_FOLDER}/writer-run4/.git`,
    lasting: 'writer/sub',
  }
  for (const folder of Object.values(folders)) mkdirSync(join(workspaces, folder), { recursive: true })
  await removeRunFolders(workspaces, ['run1', 'run2', 'run3'])
  const left = Object.entries(folders).flatMap(([name, folder]) => (existsSync(join(workspaces, folder)) ? [name] : []))
  assert.deepEqual(left, ['repository', 'running', 'lasting'])
  await removeRunFolders(join(workspaces, 'nowhere'), ['run1'])
})
