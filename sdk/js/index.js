'use strict';

module.exports = {
  ...require('./errors.js'),
  ...require('./memory.js'),
  ...require('./console.js'),
};
