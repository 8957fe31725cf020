/** What people read during and after an upgrade. */

import type { PeopleText } from '../../domain/language.ts'

export const UPGRADE_TEXTS = {
  installing: (spec: string, old: string): PeopleText => ({
    text: `Installing ${spec} beside ${old} …`,
    zh: `正在安装 ${spec}，与 ${old} 并存 …`,
  }),
  backingUp: (home: string, backup: string): PeopleText => ({
    text: `Backing up ${home} to ${backup} …`,
    zh: `正在把 ${home} 备份到 ${backup} …`,
  }),
  trying: (version: string): PeopleText => ({
    text: `Opening a copy of the home with ${version} …`,
    zh: `正在用 ${version} 打开目录的副本 …`,
  }),
  switching: (version: string): PeopleText => ({ text: `Switching to ${version} …`, zh: `正在切换到 ${version} …` }),
  switched: (version: string): PeopleText => ({ text: `Switched to ${version}.`, zh: `已切换到 ${version}。` }),
  goingBack: (version: string, old: string): PeopleText => ({
    text: `${version} failed; going back to ${old} …`,
    zh: `${version} 失败；正在回到 ${old} …`,
  }),
  restoring: (backup: string): PeopleText => ({
    text: `Restoring the home from ${backup} …`,
    zh: `正在从 ${backup} 恢复目录 …`,
  }),
  restarted: { text: 'The service was restarted.', zh: '服务已重新启动。' },
  stillRuns: (pid: number, version: string): PeopleText => ({
    text: `Process ${pid} still runs ${version}. To restart it: tireless stop, then start it as before.`,
    zh: `进程 ${pid} 仍在运行 ${version}。重新启动：tireless stop，然后照常启动。`,
  }),
  backup: (folder: string): PeopleText => ({
    text: `Backup of the home: ${folder}. Delete it when you no longer want to go back.`,
    zh: `目录的备份：${folder}。不再需要回到旧版本时可以删除。`,
  }),
  undo: { text: 'To go back: tireless upgrade --undo', zh: '要回到旧版本：tireless upgrade --undo' },
  keptBefore: {
    text: 'The home as it was before is in its folder before-restore-…',
    zh: '之前的目录内容在它的 before-restore-… 文件夹中',
  },
} as const
