/** Texts of the part Backup of Settings. */

const en = {
  intro:
    'A copy of the whole home while work goes on: database, documents, agents, workspaces inside the ' +
    'home. Not in it: the log, and workspaces elsewhere.',
  make: 'Make a backup',
  folder: 'New folder',
  folderHelp: 'On the machine of Tireless, outside the home. Better on another disk.',
  secrets: 'Include the values of secrets (API keys and tokens)',
  secretsHelp: 'Without them, you enter them again after a restore.',
  now: 'Make it now',
  making: 'Copying …',
  made: (size: string) => `The backup is complete: ${size}.`,
  private: 'A backup contains your configuration and the token of this page. Keep it private.',
  skipped: 'Left out',
  list: 'Backups',
  listIn: (folder: string) => `in ${folder}`,
  empty: 'There is none in this folder yet.',
  files: (count: string) => `${count} files`,
  withSecrets: 'with secrets',
  withoutSecrets: 'without secrets',
  otherHome: (home: string) => `of another home: ${home}`,
  restore: 'How to restore it',
  restoreTitle: 'Restore this backup',
  restoreHelp:
    'A restore replaces the home, so Tireless must not run meanwhile, and this page cannot do it. On ' +
    'the machine of Tireless:',
  restoreAfter: 'The home of today is moved aside, not deleted. The backup is checked before anything changes.',
}

const zh: typeof en = {
  intro: '在工作继续的同时复制整个主目录：数据库、文档、智能体、主目录里的工作文件夹。不包括日志和别处的工作文件夹。',
  make: '制作备份',
  folder: '新文件夹',
  folderHelp: '在运行 Tireless 的机器上，主目录之外，最好在另一块磁盘上。',
  secrets: '包含密钥的值（API 密钥和令牌）',
  secretsHelp: '不包含的话，恢复之后要重新填写。',
  now: '立即制作',
  making: '正在复制……',
  made: (size) => `备份已完成：${size}。`,
  private: '备份里有你的配置和这个页面的令牌，请妥善保管。',
  skipped: '未包含',
  list: '备份',
  listIn: (folder) => `在 ${folder}`,
  empty: '这个文件夹里还没有备份。',
  files: (count) => `${count} 个文件`,
  withSecrets: '含密钥',
  withoutSecrets: '不含密钥',
  otherHome: (home) => `属于另一个主目录：${home}`,
  restore: '怎样恢复',
  restoreTitle: '恢复这个备份',
  restoreHelp: '恢复会替换主目录，期间 Tireless 不能运行，所以无法在页面上进行。请在运行 Tireless 的机器上：',
  restoreAfter: '现在的主目录会移到一边，不会删除。改动之前会先检查整个备份。',
}

export const BACKUP_TEXTS = { en, zh }
