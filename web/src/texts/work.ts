/** Texts of the place Work: its tabs and workspaces. */

const en = {
  title: 'Work',
  tabs: 'Parts of Work',
  tabNames: { board: 'Todos', sessions: 'Sessions', queue: 'Queue', workspaces: 'Workspaces' },
  noAnswer: 'The server does not answer. What is missing appears when it is back.',
  workspaces: {
    empty: 'No agent has worked in a folder yet. Give a task in Talk; the files that it makes appear here.',
    files: (count: string) => `${count} files`,
    inUse: 'in use now',
    neverWritten: 'no run has written here',
    written: (when: string) => `written ${when}`,
    history: 'What runs changed',
    noHistory: 'No run has written files here yet.',
    showChanges: 'Show the changes',
    hideChanges: 'Hide the changes',
    openRun: 'Open the run',
    counts: { added: 'new', changed: 'changed', removed: 'deleted', repositories: 'repositories' },
    changes: { added: 'new', changed: 'changed', removed: 'deleted' },
    noText: (before: string, after: string) => `No text: ${before} → ${after}`,
    nothing: 'nothing',
  },
}

const zh: typeof en = {
  title: '工作',
  tabs: '“工作”的各部分',
  tabNames: { board: '待办', sessions: '会话', queue: '队列', workspaces: '工作文件夹' },
  noAnswer: '服务器没有响应，恢复后会显示缺少的内容。',
  workspaces: {
    empty: '还没有智能体在文件夹里工作过。在“对话”里交代一项任务，它产生的文件会出现在这里。',
    files: (count) => `${count} 个文件`,
    inUse: '正在使用',
    neverWritten: '还没有运行在这里写过文件',
    written: (when) => `${when}写入`,
    history: '各次运行改了什么',
    noHistory: '还没有运行在这里写过文件。',
    showChanges: '显示改动',
    hideChanges: '收起改动',
    openRun: '打开这次运行',
    counts: { added: '新增', changed: '修改', removed: '删除', repositories: '仓库' },
    changes: { added: '新增', changed: '修改', removed: '删除' },
    noText: (before, after) => `非文本：${before} → ${after}`,
    nothing: '无',
  },
}

export const WORK_TEXTS = { en, zh }
