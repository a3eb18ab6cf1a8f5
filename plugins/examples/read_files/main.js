const { artifacts } = await memory.get_content('sessionMeta');
return {
  files: artifacts.map(({ filename, mimetype, isActive, downloadUrl, text }) => ({
    filename,
    mimetype,
    isActive,
    downloadUrl,
    text: text ?? null,
  })),
};
